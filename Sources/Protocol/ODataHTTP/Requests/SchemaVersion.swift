import ODataModel
import ODataService

/// The versions of a service's schema, for the check of a request's version (OData Protocol 4.01, 11.2.12 *System
/// Query Option `$schemaversion`*).
struct SchemaVersion {
    /// The values of `Core.SchemaVersion`; empty if no schema has a version.
    let known: Set<String>

    init(_ model: EntityDataModel) {
        known = Set(
            model.schemas.compactMap { $0.annotations.annotation(Vocabulary.schemaVersion)?.value?.string })
    }

    /// Refuses a request for an unknown version. The current version, `*`, always exists.
    ///
    /// - Parameter asked: the value of `$schemaversion`.
    /// - Throws: ``ODataError`` 404.
    func check(_ asked: String) throws(ODataError) {
        guard asked != "*", !known.contains(asked) else { return }
        let versions = known.isEmpty ? "has no versions" : "is of version \(known.sorted().joined(separator: ", "))"
        throw ODataError(
            status: 404, code: "UnknownSchemaVersion",
            message: "The schema \(versions), not of \(asked.prefix(100)).", target: "$schemaversion")
    }
}
