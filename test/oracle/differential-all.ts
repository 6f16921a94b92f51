// Run by `npm run oracle:differential`: every long comparison, one after the other, with the same arguments.

await import("./differential/main.ts");
await import("./schema-main.ts");
await import("./typed-main.ts");
