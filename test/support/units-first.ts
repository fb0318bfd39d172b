/** Whether a test file is of one module alone. */
export function isUnit(path: string): boolean {
  return path.slice(path.lastIndexOf("/test/")).startsWith("/test/unit/");
}

/**
 * Puts units before the other files of their project, with which they share runtimes: what a request of the service has
 * left unfinished can't meet them. Files of a project stay together.
 */
export function unitsFirst<T extends { moduleId: string; project: { name: string } }>(files: T[]): T[] {
  const byProject = Map.groupBy(files, ({ project }) => project.name);
  return [...byProject.values()].flatMap((own) => {
    const { units = [], others = [] } = Object.groupBy(own, ({ moduleId }) => (isUnit(moduleId) ? "units" : "others"));
    return [...units, ...others];
  });
}
