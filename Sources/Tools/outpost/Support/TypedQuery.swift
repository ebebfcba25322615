import Foundation
import ODataQuery
import OfflineOData
import ToolLanguage

/// A query as a person types or pastes it: with blanks around its parts, or as a whole address of the service.
enum TypedQuery {
    /// Returns the query relative to the service root, without blanks around its parts.
    ///
    /// - Parameters:
    ///   - typed: the query: an address below the root, a path with or without a slash before it.
    ///   - root: the address of the service.
    /// - Throws: ``Failure`` for the address of another service.
    static func text(_ typed: String, root: String) throws -> String {
        let relative = try relative(typed.trimmingCharacters(in: .whitespacesAndNewlines), root: root)
        guard let mark = relative.firstIndex(of: "?") else { return relative }
        let path = relative[..<mark].trimmed
        let options = relative[relative.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let trimmed = options.map { option in
            guard let equals = option.firstIndex(of: "=") else { return option.trimmed }
            return option[..<equals].trimmed + "=" + option[option.index(after: equals)...].trimmed
        }
        return path + "?" + trimmed.joined(separator: "&")
    }

    private static func relative(_ text: String, root: String) throws -> String {
        let isAddress =
            text.firstRange(of: "://").map { mark in
                text[..<mark.lowerBound].allSatisfy { $0.isASCII && $0.isLetter }
            } ?? false
        if isAddress {
            guard let rest = text.below(root, from: root.startIndex) else {
                throw Failure(
                    message: "\(text) is not an address of the service \(root).",
                    advice: "Give the query relative to the service, such as Orders?$top=3.", status: .misused)
            }
            return rest
        }
        guard text.hasPrefix("/") else { return text }
        // The path of the root may stand before the query.
        if let host = root.firstRange(of: "://"), let path = root[host.upperBound...].firstIndex(of: "/"),
            let rest = text.below(root, from: path)
        {
            return rest
        }
        return String(text.drop { $0 == "/" })
    }
}

extension OfflineStore {
    /// Returns the URL of a typed query.
    ///
    /// - Parameter checked: whether the names in it are resolved, so that an error knows its place in the text.
    func url(typed: String, checked: Bool = true) throws -> ODataURL {
        let text = try TypedQuery.text(typed, root: serviceRoot)
        let url = try ODataURL(parsing: text)
        if checked { try queries.check(url, written: text) }
        return url
    }
}

extension String {
    /// Returns the rest after an address, or after its end from an index on; `nil` if the text begins
    /// otherwise.
    fileprivate func below(_ root: String, from start: String.Index) -> String? {
        var base = String(root[start...])
        while base.hasSuffix("/") { base.removeLast() }
        guard count >= base.count, prefix(base.count).lowercased() == base.lowercased() else { return nil }
        let rest = dropFirst(base.count)
        guard let next = rest.first else { return "" }
        guard next == "/" || next == "?" else { return nil }
        return String(rest.drop { $0 == "/" })
    }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
