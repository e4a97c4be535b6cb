class PackedSequence: pass
