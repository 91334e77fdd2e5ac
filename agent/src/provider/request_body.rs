use bytes::Bytes;

/// The body of a request: JSON, in pieces that stand one behind the other.
///
/// What earlier requests have sent of a conversation is not copied: it stands in pieces of its own, shared with them.
/// Cloning copies no text.
#[derive(Debug, Clone, Default)]
pub struct RequestBody {
    pieces: Vec<Bytes>,
    length: usize,
}

impl RequestBody {
    pub(super) fn with_room_for(pieces: usize) -> Self {
        Self {
            pieces: Vec::with_capacity(pieces),
            length: 0,
        }
    }

    pub(super) fn push(&mut self, piece: impl Into<Bytes>) {
        let piece = piece.into();
        if !piece.is_empty() {
            self.length += piece.len();
            self.pieces.push(piece);
        }
    }

    /// How many bytes it has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Its pieces, in their order.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| &**piece)
    }

    /// All of it, copied together.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.length);
        for piece in self.pieces() {
            whole.extend_from_slice(piece);
        }
        whole
    }

    #[cfg(feature = "http")]
    pub(super) fn into_pieces(self) -> std::vec::IntoIter<Bytes> {
        self.pieces.into_iter()
    }
}

impl From<Vec<u8>> for RequestBody {
    fn from(whole: Vec<u8>) -> Self {
        let mut body = Self::default();
        body.push(whole);
        body
    }
}
