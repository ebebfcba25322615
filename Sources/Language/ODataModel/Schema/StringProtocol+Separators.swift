/// Parsing of names, types and paths by bytes. A separator and a following combining mark form one character, in
/// which a search by characters would miss the separator.
extension StringProtocol {
    /// Whether the text begins with another, byte by byte.
    @inlinable package func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with another, byte by byte.
    @inlinable package func ends(with suffix: some StringProtocol) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The text behind another that it begins with; `nil` where it does not.
    @inlinable package func rest(behind prefix: some StringProtocol) -> Substring? {
        guard begins(with: prefix) else { return nil }
        return Substring(Substring(self).utf8.dropFirst(prefix.utf8.count))
    }

    /// The parts between separators, empty ones left out.
    @inlinable package func parts(between separator: Unicode.Scalar, keepingEmpty: Bool = false) -> [Substring] {
        Substring(self).unicodeScalars.split(separator: separator, omittingEmptySubsequences: !keepingEmpty).map {
            Substring($0)
        }
    }

    /// Whether a separator is among the characters.
    @inlinable package func has(_ separator: Unicode.Scalar) -> Bool { unicodeScalars.contains(separator) }

    /// The texts before and behind the first separator; `nil` if there is no separator.
    @inlinable package func halves(atFirst separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
        let text = Substring(self)
        guard let index = text.unicodeScalars.firstIndex(of: separator) else { return nil }
        return (text[..<index], text[text.unicodeScalars.index(after: index)...])
    }

    /// The texts before and behind the last separator; `nil` where there is none.
    @inlinable package func halves(atLast separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
        let text = Substring(self)
        guard let index = text.unicodeScalars.lastIndex(of: separator) else { return nil }
        return (text[..<index], text[text.unicodeScalars.index(after: index)...])
    }

    /// The name of the element type in `Collection(name)`; `nil` for other types (OData CSDL 4.01, 4.1).
    var collectionElement: Substring? {
        guard ends(with: ")"), let rest = rest(behind: "Collection(") else { return nil }
        return Substring(rest.utf8.dropLast())
    }

    /// The name of control information, without the prefix `odata.`; `nil` for the name of a term, which has other dots
    /// (OData JSON Format 4.01, 4.6 and 4.7).
    @inlinable package var controlInformation: Substring? {
        let name = rest(behind: "odata.") ?? Substring(self)
        return name.has(".") ? nil : name
    }

    /// A term and its qualifier, as `term#qualifier` has them in JSON and in paths (OData CSDL JSON 4.01, 14.2).
    /// An empty qualifier, which the standard does not have, is one too.
    var termAndQualifier: (term: Substring, qualifier: Substring?) {
        let text = Substring(self)
        guard let hash = text.utf8.dropFirst().firstIndex(of: UInt8(ascii: "#")) else { return (text, nil) }
        return (text[..<hash], text[text.utf8.index(after: hash)...])
    }
}
