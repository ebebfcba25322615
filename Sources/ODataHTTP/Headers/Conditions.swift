import ODataQuery
import ODataService

extension ODataRequest {
    /// Whether `If-None-Match` names what would be sent: the client has it already (OData Protocol 4.01, 8.2.5).
    func alreadyHas(_ etag: String) -> Bool {
        guard let text = ifNoneMatch, let known = try? EntityTags(parsing: text),
            case .list(let tags)? = try? EntityTags(parsing: etag), let tag = tags.first
        else { return false }
        return known.contains(tag)
    }
}

/// `If-Match` and `If-None-Match` as they come (OData Protocol 4.01, 8.2.4 and 8.2.5).
enum Conditions {
    /// The tags of a field, checked for their form.
    ///
    /// - Returns: `nil` where there is no such field.
    /// - Throws: ``ODataError`` with status 400 where a tag is not quoted.
    static func tags(_ values: [String], of field: String) throws(ODataError) -> String? {
        guard !values.isEmpty else { return nil }
        let text = values.joined(separator: ", ")
        // The ETag of an earlier request of a batch is named by that request's id (11.7.7.3).
        if text.hasPrefix("$") { return text }
        do throws(QueryError) {
            _ = try EntityTags(parsing: text)
            return text
        } catch {
            throw ODataError(
                status: 400, code: "InvalidHeader", message: "\(field) is no list of entity tags: \(text.prefix(80))",
                target: field)
        }
    }
}
