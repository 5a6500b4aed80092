import { AwsClient } from "aws4fetch";
import createClient from "openapi-fetch";
import type { paths } from "./generated/api.js";

const { GAZETTE_URL: baseUrl = "", AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = process.env;
const { AWS_SESSION_TOKEN: sessionToken = "", AWS_REGION: region = "" } = process.env;
const aws = new AwsClient({ accessKeyId, secretAccessKey, sessionToken, region, service: "execute-api" });
const gazette = createClient<paths>({ baseUrl, fetch: (request) => aws.fetch(request) });
const ann = { query: { user_id: "ann" } };
const body = { chosen_at: new Date().toISOString(), frequencies: { comment: "weekly" } } as const;
const { error } = await gazette.PATCH("/v1/subscriber/choices", { params: ann, body });
const { data } = await gazette.GET("/v1/subscriber", { params: ann });
console.log(JSON.stringify(error ?? data?.categories));
