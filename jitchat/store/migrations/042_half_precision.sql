-- The numbers of vectors are stored in half precision, and stems compressed.
UPDATE vectors SET vector = halved(vector) WHERE typeof(vector) = 'blob' AND length(vector) = 4 * dimension;
UPDATE part_vectors SET vector = halved(vector) WHERE typeof(vector) = 'blob' AND length(vector) = 4 * dimension;
UPDATE index_entries SET stems = compressed(stems) WHERE typeof(stems) = 'text';
