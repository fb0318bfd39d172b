ALTER TABLE `api_keys` ADD `secret_by` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_by` text;--> statement-breakpoint
ALTER TABLE `members` ADD `email_by` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `url_by` text;