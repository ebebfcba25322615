extension ODataError {
    /// The code of the error ``notLoaded(_:definingQuery:)``.
    public static let notLoadedCode = "NotLoaded"
    private static let definingQueryCode = "DefiningQuery"

    /// Returns the error for a read of data that an offline store does not hold.
    ///
    /// An empty response would claim that the data do not exist. The status is 501 rather than 404, since 404 tells
    /// clients that an entity does not exist (OData Protocol 4.01, 9.3.1).
    ///
    /// - Parameters:
    ///   - name: the property, relation, stream or set, such as `Albums/Pages`.
    ///   - definingQuery: the URL, relative to the service root, of a defining query that loads the data; `nil` if
    ///     none can.
    public static func notLoaded(_ name: String, definingQuery: String?) -> ODataError {
        let remedy =
            definingQuery.map { "Add the defining query \($0) and download it." }
            ?? "No defining query can bring it: ask the service."
        return ODataError(
            status: 501, code: notLoadedCode, message: "\(name) is not in the store, or not for these rows. \(remedy)",
            target: name,
            details: definingQuery.map { [Detail(code: definingQueryCode, message: $0, target: name)] } ?? [])
    }

    /// Whether the error means that an offline store does not hold the data, although the service may.
    public var isNotLoaded: Bool { code == Self.notLoadedCode }

    /// The URL of a defining query that loads the missing data; `nil` for other errors, or if none can.
    public var definingQuery: String? {
        isNotLoaded ? details.first { $0.code == Self.definingQueryCode }?.message : nil
    }
}
