CREATE TABLE `waiting_acts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`act` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `waiting_acts_by_organization` ON `waiting_acts` (`organization_id`,`id`);