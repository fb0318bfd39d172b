let audio: AudioContext | undefined;

/** Plays a short tone. Not before the person has used the tab, because browsers don't allow it. */
export function chime(): void {
  if (!navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  const { currentTime, destination } = audio;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.1, currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, currentTime + 0.4);
  tone.connect(volume).connect(destination);
  tone.start();
  tone.stop(currentTime + 0.4);
}
