// What tests of Kubernetes rules share.

export {};
