/**
 * The style of the widget's shadow root, which separates it from the site's style. The site can only style the host
 * element, where our important rules win.
 */
export const WIDGET_STYLE = `
:host { all: initial !important; position: fixed !important; z-index: 2147483000 !important;
  inset: auto 0 0 !important; height: 0 !important; }
* { box-sizing: border-box; }
.launcher {
  position: fixed; inset: auto 20px max(20px, env(safe-area-inset-bottom)) auto;
  width: 56px; height: 56px; padding: 0; border: 2px solid #fff; border-radius: 50%;
  display: grid; place-items: center; cursor: pointer; touch-action: manipulation;
  background: var(--accent, #0d6b5e); color: var(--on-accent, #fff); box-shadow: 0 4px 18px rgb(0 0 0 / 28%);
  font: 600 13px/1 system-ui, sans-serif;
}
.launcher:hover { background: var(--accent-hover, #0a5a4f); }
.launcher:focus-visible { outline: 3px solid var(--accent, #0d6b5e); outline-offset: 2px; }
.launcher svg { width: 26px; height: 26px; fill: none; stroke: currentcolor; stroke-width: 2;
  stroke-linecap: round; stroke-linejoin: round; }
.launcher .x, .open .launcher .bubble { display: none; }
.open .launcher .x { display: block; }
.count {
  position: absolute; inset: -6px -6px auto auto; min-width: 24px; height: 24px; padding: 0 6px;
  display: grid; place-items: center; border: 2px solid #fff; border-radius: 12px; background: #b3261e; color: #fff;
}
.count:empty { display: none; }
.frame {
  position: fixed; inset: auto 20px calc(max(20px, env(safe-area-inset-bottom)) + var(--lift, 72px)) auto;
  width: min(392px, calc(100vw - 40px)); height: min(640px, calc(100dvh - 112px));
  border: 0; border-radius: 18px; background: #fff; visibility: hidden; opacity: 0;
  box-shadow: 0 0 0 1px rgb(128 128 128 / 30%), 0 16px 48px rgb(0 0 0 / 26%);
}
.dark .frame { background: #1b1f23; }
.open .frame { visibility: visible; opacity: 1; }
.notice {
  position: fixed; inset: auto 20px calc(max(20px, env(safe-area-inset-bottom)) + var(--lift, 72px)) auto; display: none;
  max-width: 250px; margin: 0; padding: 14px 18px; border-radius: 14px;
  background: #fff; color: #1d2126; font: 15px/1.4 system-ui, sans-serif;
  box-shadow: 0 0 0 1px rgb(128 128 128 / 30%), 0 16px 48px rgb(0 0 0 / 26%);
}
.dark .notice { background: #1b1f23; color: #e9ebed; }
.open.missing .notice { display: block; }
.left .launcher, .left .frame, .left .notice { right: auto; left: 20px; }
@media (max-width: 480px), (max-height: 480px) {
  .frame { inset: 0; width: 100%; height: var(--height, 100dvh); border-radius: 0; box-shadow: none; }
  .left .frame { left: 0; }
  .open.here .launcher { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .frame { transform: translateY(12px); transition: opacity .16s, transform .16s, visibility 0s .16s; }
  .open .frame { transform: none; transition: opacity .16s, transform .16s; }
}
.missing .frame { visibility: hidden; }
.bare:not(.missing) { --lift: 0px; }
.bare:not(.open.missing) .launcher { display: none; }
@media print { :host { display: none !important; } }
`;
