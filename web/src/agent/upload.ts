import { Problem } from "../api";

/** Sends a file, and tells how far it got: a request whose progress only this way can be seen. */
export function upload<T>(
  target: string,
  body: Blob,
  progress: (sent: number, total: number) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", target);
    request.setRequestHeader("X-Voltbus", "1");
    request.setRequestHeader("Content-Type", "application/gzip");
    request.upload.addEventListener("progress", (e) => progress(e.loaded, body.size));
    request.addEventListener("error", () => reject(new TypeError("The node does not answer.")));
    request.addEventListener("load", () => {
      const told = answerOf(request.responseText) as Partial<Problem>;
      if (request.status < 300) resolve(told as T);
      else {
        const title = told.title ?? `The node answered ${request.status}`;
        reject(new Problem(request.status, title, told.detail ?? "", told.kind ?? "internal"));
      }
    });
    request.send(body);
  });
}

function answerOf(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
