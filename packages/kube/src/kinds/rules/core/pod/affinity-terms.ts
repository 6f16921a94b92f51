// Where an affinity has the terms that must hold, and those that should.

export const required = "requiredDuringSchedulingIgnoredDuringExecution";
export const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
