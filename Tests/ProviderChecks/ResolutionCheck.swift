import ODataModel
import ODataQuery
import ODataService

/// A check that a provider takes the resolution that a request brings. A resolution that contradicts its URL
/// shows which of the two the provider takes.
public struct ResolutionCheck {
    private let provider: any ODataProvider
    private let set: String

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - provider: the provider.
    ///   - set: an entity set with at least three entities.
    public init(_ provider: any ODataProvider, set: String) {
        self.provider = provider
        self.set = set
    }

    /// Reads with a resolution against the provider's model, and with one against an equal model that is another
    /// object.
    ///
    /// - Returns: the answers that are wrong, none for a provider that keeps the rule.
    public func faults() async throws -> [String] {
        let model = try await provider.model
        let other = try EntityDataModel(schemas: model.schemas)
        let (one, two) = ("\(set)?$top=1", "\(set)?$top=2")
        let resolved = try request("\(set)?$top=1&$skip=0", boundAs: two, model)
        var changed = resolved
        changed.url.options.top = 3
        let cases: [(String, ODataRequest, Int)] = [
            ("without a resolution", ODataRequest(.read, try ODataURL(parsing: one)), 1),
            ("with a resolution", resolved, 2),
            ("with the same resolution again", resolved, 2),
            ("with a resolution against another model", try request(one, boundAs: two, other), 1),
            ("with a URL that changed after it was resolved", changed, 3),
        ]
        var faults: [String] = []
        for (name, request, count) in cases {
            let found = try await self.count(request)
            if found != count { faults.append("\(name): \(found) entities instead of \(count)") }
        }
        return faults
    }

    private func request(_ text: String, boundAs other: String, _ model: EntityDataModel) throws -> ODataRequest {
        ODataRequest(
            .read,
            ResolvedURL(
                url: try ODataURL(parsing: text), bound: try Binder(model: model).bind(ODataURL(parsing: other)),
                model: model))
    }

    private func count(_ request: ODataRequest) async throws -> Int {
        guard case .page(let page) = try await provider.execute(request).body else { return -1 }
        return page.entities.count
    }
}
