import ODataQuery

/// The URL of a request below the service root as clients send it: read by the standard, and where that fails, with
/// what clients commonly do otherwise and no standard URL can mean.
///
/// - A slash at the end of the path leads nowhere else.
/// - Empty query options, as in `$top=1&`, say nothing.
/// - HTML forms and the URL functions of several languages write a space as a plus sign. A plus sign is one by
///   RFC 3986, and stays one in every URL that can be read with it.
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
    /// - Throws: ``QueryError`` of the first attempt.
    func parsed(_ options: ParsingOptions = ParsingOptions()) throws(QueryError) -> ODataURL {
        do throws(QueryError) {
            return try ODataURL(parsing: text(query), options: options)
        } catch {
            guard let query, let other = Self.lenient(query),
                let url = try? ODataURL(parsing: text(other[...]), options: options)
            else { throw error }
            return url
        }
    }

    private func text(_ query: Substring?) -> String { query.map { "\(path)?\($0)" } ?? String(path) }

    /// The query without empty options and with spaces for plus signs; `nil` where that changes nothing.
    private static func lenient(_ query: Substring) -> String? {
        let options = query.split(separator: "&", omittingEmptySubsequences: true)
        let text = options.joined(separator: "&").replacing("+", with: "%20")
        return text == query ? nil : text
    }
}
