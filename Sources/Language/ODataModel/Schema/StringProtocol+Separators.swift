/// Parsing of names, types and paths by bytes. A separator and a following combining mark form one character, in
/// which a search by characters would miss the separator.
extension StringProtocol {
    /// Returns whether the text begins with `prefix`, compared by bytes.
    func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Returns whether the text ends with `suffix`, compared by bytes.
    func ends(with suffix: some StringProtocol) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Returns the text after `prefix`; `nil` if the text does not begin with it.
    func rest(behind prefix: some StringProtocol) -> Substring? {
        guard begins(with: prefix) else { return nil }
        return Substring(Substring(self).utf8.dropFirst(prefix.utf8.count))
    }

    /// Returns the nonempty parts between separators.
    func parts(between separator: Unicode.Scalar) -> [Substring] {
        Substring(self).unicodeScalars.split(separator: separator).map { Substring($0) }
    }

    /// Returns the texts before and after the last separator; `nil` if there is none.
    func halves(atLast separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
        let text = Substring(self)
        guard let index = text.unicodeScalars.lastIndex(of: separator) else { return nil }
        return (text[..<index], text[text.unicodeScalars.index(after: index)...])
    }

    /// The name of the element type in `Collection(name)`; `nil` for other types (OData CSDL 4.01, 4.1).
    var collectionElement: Substring? {
        guard ends(with: ")"), let rest = rest(behind: "Collection(") else { return nil }
        return Substring(rest.utf8.dropLast())
    }

    /// The term and the qualifier of `term#qualifier`, as in JSON and in paths (OData CSDL JSON 4.01, 14.2). An
    /// empty qualifier, which the standard does not allow, is also returned.
    var termAndQualifier: (term: Substring, qualifier: Substring?) {
        let text = Substring(self)
        guard let hash = text.utf8.dropFirst().firstIndex(of: UInt8(ascii: "#")) else { return (text, nil) }
        return (text[..<hash], text[text.utf8.index(after: hash)...])
    }
}
