import { webAddress } from "../../shared/links.ts";
import type { Message } from "../api.ts";

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
