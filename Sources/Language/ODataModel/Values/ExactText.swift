/// A dictionary key that compares texts by their bytes.
///
/// `String` treats canonically equivalent texts as equal, such as the composed and decomposed forms of `é`. As keys
/// of entities, URLs or statements, such texts are different.
///
/// ```swift
/// var documents: [ExactText: [UInt8]] = [:]
/// documents[ExactText(url)] = bytes
/// ```
package struct ExactText: Hashable, Sendable {
    /// The text.
    package let text: String

    /// Creates a key of a text.
    package init(_ text: String) { self.text = text }

    /// Returns whether the bytes are equal.
    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isIdentical(inUTF8To: right.text) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
