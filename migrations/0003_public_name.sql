ALTER TABLE `members` ADD `public_name` text;--> statement-breakpoint
ALTER TABLE `members` ADD `last_seen_at` integer;