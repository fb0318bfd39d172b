ALTER TABLE `api_keys` ADD `quota_peak` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `quota_peak_until` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by` text DEFAULT 'operator' NOT NULL;--> statement-breakpoint
ALTER TABLE `channels` ADD `retention_days` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `self_service` text;