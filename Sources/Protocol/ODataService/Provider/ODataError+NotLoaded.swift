extension ODataError {
    /// The code of ``notLoaded(_:definingQuery:)``.
    public static let notLoadedCode = "NotLoaded"
    private static let definingQueryCode = "DefiningQuery"

    /// The refusal of a read that needs something which an offline store does not hold: an empty answer would say that there
    /// is none.
    ///
    /// The status is 501 and never 404, which clients take for the absence of an entity (OData Protocol 4.01, 9.3.1).
    ///
    /// - Parameters:
    ///   - name: the property, relation, stream or set, as `Albums/Pages`.
    ///   - definingQuery: the defining query that brings it, relative to the service root; `nil` if none can.
    public static func notLoaded(_ name: String, definingQuery: String?) -> ODataError {
        let remedy =
            definingQuery.map { "Add the defining query \($0) and download it." }
            ?? "No defining query can bring it: ask the service."
        return ODataError(
            status: 501, code: notLoadedCode, message: "\(name) is not in the store, or not for these rows. \(remedy)",
            target: name,
            details: definingQuery.map { [Detail(code: definingQueryCode, message: $0, target: name)] } ?? [])
    }

    /// Whether it says that an offline store does not hold something, whatever the service has.
    public var isNotLoaded: Bool { code == Self.notLoadedCode }

    /// The defining query that brings the part that an offline store does not hold; `nil` for other errors, and if none can.
    public var definingQuery: String? {
        isNotLoaded ? details.first { $0.code == Self.definingQueryCode }?.message : nil
    }
}
