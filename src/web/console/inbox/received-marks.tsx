import { webAddress } from "../../shared/links.ts";
import type { Message } from "../api.ts";

const COST: Record<string, string> = { true: "Charged", false: "Free" };

/** What networks report of a message beside its text, each as a few words. */
export function marksOf({ voice, forwarded, price }: Message): string[] {
  return [
    voice === undefined ? "" : voice ? "Voice note" : "Sent as audio",
    forwarded === undefined ? "" : forwarded === "many" ? "Forwarded many times" : "Forwarded",
    price ? `${COST[String(price.billable)] ?? "Price"}: ${price.category.replaceAll("_", " ")}` : "",
  ].filter((mark) => mark !== "");
}

/** The ad that led the contact here, and the product that a message is about. */
export function Sources({ message: { referral, product } }: { message: Message }) {
  if (!referral && !product) return null;
  const href = webAddress(referral?.url ?? "", ["https:", "http:"]);
  const headline = referral?.headline ?? referral?.text ?? referral?.url ?? referral?.id ?? "unknown";
  return (
    <p class="quiet small">
      {referral && (
        <>
          From {referral.type === "post" ? "a post" : "an ad"}:{" "}
          {href ? (
            <a href={href} target="_blank" rel="noopener noreferrer">
              <bdi>{headline}</bdi>
            </a>
          ) : (
            <bdi>{headline}</bdi>
          )}{" "}
        </>
      )}
      {product && <bdi>About product {product.productId ?? "unknown"}</bdi>}
    </p>
  );
}
