/// The parts of names, types and paths, by the bytes between them. As a character, a separator may carry a mark that
/// combines with what follows, which a name may well begin with, and is then found by nobody who looks for it.
extension StringProtocol {
    /// Whether the text begins with another, byte by byte.
    func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with another, byte by byte.
    func ends(with suffix: some StringProtocol) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The text behind another that it begins with; `nil` where it does not.
    func rest(behind prefix: some StringProtocol) -> Substring? {
        guard begins(with: prefix) else { return nil }
        return Substring(Substring(self).utf8.dropFirst(prefix.utf8.count))
    }

    /// The parts between separators, empty ones left out.
    func parts(between separator: Unicode.Scalar) -> [Substring] {
        Substring(self).unicodeScalars.split(separator: separator).map { Substring($0) }
    }

    /// The texts before and behind the last separator; `nil` where there is none.
    func halves(atLast separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
        let text = Substring(self)
        guard let index = text.unicodeScalars.lastIndex(of: separator) else { return nil }
        return (text[..<index], text[text.unicodeScalars.index(after: index)...])
    }

    /// The name of the items' type in `Collection(name)`; `nil` for other types (OData CSDL 4.01, 4.1).
    var collectionElement: Substring? {
        guard ends(with: ")"), let rest = rest(behind: "Collection(") else { return nil }
        return Substring(rest.utf8.dropLast())
    }

    /// A term and its qualifier, as `term#qualifier` has them in JSON and in paths (OData CSDL JSON 4.01, 14.2). An empty
    /// qualifier, which the standard does not have, is one too.
    var termAndQualifier: (term: Substring, qualifier: Substring?) {
        let text = Substring(self)
        guard let hash = text.utf8.dropFirst().firstIndex(of: UInt8(ascii: "#")) else { return (text, nil) }
        return (text[..<hash], text[text.utf8.index(after: hash)...])
    }
}
