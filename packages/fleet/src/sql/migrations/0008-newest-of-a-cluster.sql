-- Workers ask for the newest resource of each cluster whenever they are woken.
CREATE INDEX idx_resources_newest ON resources(cluster_id, id);
