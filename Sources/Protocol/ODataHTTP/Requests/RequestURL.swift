import ODataQuery

/// The URL of a request below the service root, with tolerance for common deviations from the standard.
///
/// - A slash at the end of the path is ignored.
/// - Empty query options, as in `$top=1&`, are ignored if the URL is invalid with them.
/// - A plus sign is a plus sign by RFC 3986, but HTML forms and several languages encode spaces as one. It becomes
///   a space if the URL is invalid otherwise, and always in `$search`, where it separates words in either case.
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

    /// Parses the URL.
    ///
    /// - Throws: ``QueryError`` of the attempt that parsed more of the text.
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
                // The plus sign at which the first attempt ends may not be the error.
                throw (second.offset ?? 0) > (error.offset ?? 0) ? second : error
            }
        }
    }

    /// Returns the query with spaces in place of the plus signs in `$search`.
    private static func separatingWords(_ query: Substring) -> String {
        guard query.utf8.contains(UInt8(ascii: "+")) else { return String(query) }
        let options = query.split(separator: "&", omittingEmptySubsequences: false)
        return options.map { option in
            let name = option.prefix { $0 != "=" }.lowercased()
            let isSearch = ["$search", "search", "%24search"].contains(name)
            return isSearch ? String(option).replacing("+", with: "%20") : String(option)
        }.joined(separator: "&")
    }

    /// Returns the query without empty options; `nil` if a second attempt would parse the same text.
    private static func withoutEmptyOptions(_ query: String) -> String? {
        let options = query.split(separator: "&", omittingEmptySubsequences: true).joined(separator: "&")
        return options == query && !query.utf8.contains(UInt8(ascii: "+")) ? nil : options
    }
}
