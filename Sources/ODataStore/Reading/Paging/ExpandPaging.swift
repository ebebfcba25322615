import GRDB
import ODataModel
import ODataQuery
import ODataService

/// How expanded collections are cut into pages, and the links to what follows (rule 21).
///
/// The link addresses the collection through its parent, `Customers('A')/Orders`, with the nested options as
/// they were written and a token for exactly that query.
struct ExpandPaging: Sendable {
    /// The most rows of an expanded collection; `nil` for no limit.
    var pageSize: Int?
    /// How many rows the answer may still have.
    var budget: RowBudget?
    /// What next links start with.
    var serviceRoot = ""
    /// The options of this level as they were written.
    var options = QueryOptions()

    /// Without limits.
    init() {}

    /// Pages of a size, for a request.
    init(pageSize: Int?, request: ODataRequest) {
        self.pageSize = pageSize.map { max(1, $0) }
        serviceRoot = request.format?.serviceRoot ?? ""
        options = request.url.options
    }

    /// The paging of what an expanded property leads to.
    func below(_ expand: BoundExpand) -> ExpandPaging {
        guard pageSize != nil else { return self }
        var result = self
        result.options = QueryOptions()
        guard let item = options.expand.first(where: { $0.path.last?.text == expand.navigation.name }) else {
            // `*` expands without options.
            return result
        }
        result.options = item.options
        result.options.levels = nil
        // A recursive property is expanded again below.
        var again = item
        switch item.options.levels {
        case .exactly(let levels) where levels > 1: again.options.levels = .exactly(levels - 1)
        case .max: again.options.levels = .max
        default: return result
        }
        result.options.expand.append(again)
        return result
    }

    /// The link to the rows behind one of a parent's expanded rows.
    func link(
        to expand: BoundExpand, of parent: String?, set: String, _ values: [DatabaseValue], _ mapping: StorageMapping,
        _ compilerOptions: SQLCompiler.Options
    ) throws -> String? {
        guard let parent, let source = mapping.model.entitySet(set), let table = mapping.tables[set],
            let (_, key) = try? EntityID.parse(parent, model: mapping.model), let key
        else { return nil }
        let compiled = try SQLCompiler(mapping: mapping, options: compilerOptions).compile(
            expand.query,
            at: [
                .entitySet(source, table.shape), .key(key),
                .navigation(expand.navigation, set: expand.query.set, expand.query.shape),
            ])
        let remaining = expand.query.top.map { max(0, $0 - (pageSize ?? 0)) }
        let token = PageToken(
            digest: compiled.digest, now: compilerOptions.now, remaining: remaining, values: values)
        var options = options
        options.skipToken = token.text
        return "\(serviceRoot)\(parent)/\(expand.navigation.name)?\(options.urlEncoded())"
    }
}
