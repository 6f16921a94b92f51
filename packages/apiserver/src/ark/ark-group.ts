/** The API group of every kind in this folder. */
export const arkGroup = "ark.mckinsey.com";
