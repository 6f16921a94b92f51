-- Who owns which field of an object in a cluster, as its managed fields say: a difference has an owner.
ALTER TABLE resource_current_states ADD COLUMN managed_fields JSONB;
