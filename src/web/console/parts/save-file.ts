export function saveFile(name: string, parts: string[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
