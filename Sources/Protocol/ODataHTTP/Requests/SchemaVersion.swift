import ODataModel
import ODataService

/// Which version of the schema a service has, and whether a request is made against it
/// (OData Protocol 4.01, 11.2.12 *System Query Option `$schemaversion`*).
struct SchemaVersion {
    /// What `Core.SchemaVersion` says of the schemas; empty where no schema has a version.
    let known: Set<String>

    init(_ model: EntityDataModel) {
        known = Set(
            model.schemas.compactMap { $0.annotations.annotation(Vocabulary.schemaVersion)?.value?.string })
    }

    /// Refuses a request against a version that does not exist. The present one, `*`, always does.
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
