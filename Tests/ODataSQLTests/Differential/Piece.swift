/// A part of a random query: its text with nested parts, and its type. A part can be replaced by a smaller one of
/// the same type.
struct Piece {
    /// The kind of texts that can replace the part: `bool`, `Edm.Int32`, `option`, ….
    var kind: String
    /// The texts around the nested parts, one more than there are parts.
    var texts: [String]
    var parts: [Piece] = []
    /// A text that can always replace the part; `nil` if the part can be omitted.
    var simplest: String?

    init(_ kind: String, _ text: String) {
        self.kind = kind
        texts = [text]
        simplest = text
    }

    init(_ kind: String, _ texts: [String], _ parts: [Piece], simplest: String? = nil) {
        self.kind = kind
        self.texts = texts
        self.parts = parts
        self.simplest = simplest
    }

    var text: String {
        var result = texts.first ?? ""
        for (part, text) in zip(parts, texts.dropFirst()) { result += part.text + text }
        return result
    }

    /// Returns all copies in which one part is smaller, starting with the largest reduction.
    func smaller() -> [Piece] {
        var result: [Piece] = []
        if let simplest, simplest != text { result.append(Piece(kind, simplest)) }
        result += inner(kind)
        for (index, part) in parts.enumerated() {
            for next in part.smaller() {
                var copy = self
                copy.parts[index] = next
                result.append(copy)
            }
        }
        return result
    }

    /// Returns the nested parts of the same kind at any depth.
    private func inner(_ kind: String) -> [Piece] {
        parts.flatMap { ($0.kind == kind ? [$0] : []) + $0.inner(kind) }
    }
}

/// A random request: an entity set and options.
struct RandomRequest {
    var set: String
    var options: [(name: String, value: Piece)]
    /// Whether the order of the rows is fully determined.
    var isOrdered: Bool

    var url: String {
        let query = options.map { "\($0.name)=\($0.value.text)" }.joined(separator: "&")
        return query.isEmpty ? set : "\(set)?\(query)"
    }

    /// Returns slightly smaller requests.
    func smaller() -> [RandomRequest] {
        var result: [RandomRequest] = []
        for index in options.indices {
            var copy = self
            copy.options.remove(at: index)
            result.append(copy)
        }
        for index in options.indices {
            for value in options[index].value.smaller() {
                var copy = self
                copy.options[index].value = value
                result.append(copy)
            }
        }
        return result
    }
}
