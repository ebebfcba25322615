/// A text as a key of a dictionary: two keys are equal only if their bytes are (`rules.md` 38).
///
/// `String` takes texts for equal that Unicode holds to be written alike, such as `é` in one character and in two. They are
/// two keys of entities, two URLs and two statements.
///
/// ```swift
/// var documents: [ExactText: [UInt8]] = [:]
/// documents[ExactText(url)] = bytes
/// ```
package struct ExactText: Hashable, Sendable {
    /// The text.
    package let text: String

    /// Makes a key of a text.
    package init(_ text: String) { self.text = text }

    /// Equal when the bytes are.
    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isIdentical(inUTF8To: right.text) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
