// What a Kubernetes object is, as pure rules that run anywhere.

export {};
