/** What a page fetches when somebody first wants it. */
export { uploadFile } from "./files/upload.ts";
export { ActPopup } from "./message/act-popup.tsx";
export { openLightbox } from "./message/lightbox.ts";
