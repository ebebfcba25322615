import ODataQuery

/// The URL of a request below the service root as clients send it: read by the standard, and where that fails, with
/// what clients commonly do otherwise and no standard URL can mean.
///
/// - A slash at the end of the path leads nowhere else.
/// - Empty query options, as in `$top=1&`, say nothing.
/// - HTML forms and the URL functions of several languages write a space as a plus sign. A plus sign is one by
///   RFC 3986, and stays one in every URL that can be read with it, except in `$search`: there it separates words
///   either way, and nobody searches for it.
struct RequestURL {
    private let path: Substring
    private let query: Substring?

    init(_ text: String) {
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let path = text[..<end]
        self.path = path.count > 1 && path.hasSuffix("/") && !path.hasSuffix("//") ? path.dropLast() : path
        let options = end == text.endIndex ? nil : text[text.index(after: end)...]
        query = options
    }

    /// Reads the URL.
    ///
    /// - Throws: ``QueryError`` of the reading that comes further.
    func parsed(_ options: ParsingOptions = ParsingOptions()) throws(QueryError) -> ODataURL {
        guard let query else { return try ODataURL(parsing: String(path), options: options) }
        let text = Self.separatingWords(query)
        do throws(QueryError) {
            return try ODataURL(parsing: "\(path)?\(text)", options: options)
        } catch {
            guard let other = Self.withoutEmptyOptions(text) else { throw error }
            var lenient = options
            lenient.plusIsSpace = true
            do throws(QueryError) {
                return try ODataURL(parsing: "\(path)?\(other)", options: lenient)
            } catch let second {
                // The sign before which the first reading ends is not what is wrong.
                throw (second.offset ?? 0) > (error.offset ?? 0) ? second : error
            }
        }
    }

    /// The query with blanks for the plus signs in `$search`.
    private static func separatingWords(_ query: Substring) -> String {
        guard query.utf8.contains(UInt8(ascii: "+")) else { return String(query) }
        let options = query.split(separator: "&", omittingEmptySubsequences: false)
        return options.map { option in
            let name = option.prefix { $0 != "=" }.lowercased()
            let isSearch = ["$search", "search", "%24search"].contains(name)
            return isSearch ? String(option).replacing("+", with: "%20") : String(option)
        }.joined(separator: "&")
    }

    /// The query without empty options; `nil` if there is none and no plus sign either, so that a second reading would be
    /// the same.
    private static func withoutEmptyOptions(_ query: String) -> String? {
        let options = query.split(separator: "&", omittingEmptySubsequences: true).joined(separator: "&")
        return options == query && !query.utf8.contains(UInt8(ascii: "+")) ? nil : options
    }
}
