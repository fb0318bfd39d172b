CREATE TABLE `alarm_net` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`place` text NOT NULL,
	`page` integer NOT NULL
);
