ALTER TABLE `api_keys` ADD `stats` text;--> statement-breakpoint
ALTER TABLE `channels` ADD `stats` text;