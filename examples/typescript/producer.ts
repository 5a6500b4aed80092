import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { EventCreated } from "./generated/events/event.created.schema.js";

const event: EventCreated = {
  user_id: "ann", id: "comment-1", category: "comment", occurred_at: new Date().toISOString(),
  entity: { type: "post", id: "p1", title: "A better lid for jars", url: "https://example.com/p1" },
};
const { GAZETTE_BUS: bus = "gazette" } = process.env;
const entry = { EventBusName: bus, Source: "shop.comments", DetailType: "event.created", Detail: JSON.stringify(event) };
const answer = await new EventBridgeClient().send(new PutEventsCommand({ Entries: [entry] }));
const refused = answer.Entries?.find((each) => each.ErrorCode);
if (refused) throw new Error(`${refused.ErrorCode}: ${refused.ErrorMessage}`);
