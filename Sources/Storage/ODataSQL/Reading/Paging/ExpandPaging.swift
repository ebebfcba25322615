import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The paging of expanded collections, and their next links.
///
/// A link addresses the collection by its parent, such as `Customers('A')/Orders`, with the nested options of the
/// request and a token for this query.
package struct ExpandPaging: Sendable {
    /// The maximum number of rows of an expanded collection; `nil` for no limit.
    var pageSize: Int?
    /// The budget of the request.
    package var budget: RequestBudget?
    /// The start of next links.
    package var serviceRoot = ""
    /// The options of this level in the form in which they were written.
    var options = QueryOptions()
    /// The values of the request's parameter aliases, which options of all levels can use.
    var aliases: [String: CommonExpression] = [:]

    /// Creates paging without limits.
    package init() {}

    /// Creates paging for a request, with a page size.
    init(pageSize: Int?, request: ODataRequest) {
        self.pageSize = pageSize.map { max(1, $0) }
        serviceRoot = request.format?.serviceRoot ?? ""
        options = request.url.options
        aliases = options.aliases
    }

    /// Returns the paging of the level below an expanded property.
    func below(_ expand: BoundExpand) -> ExpandPaging {
        guard pageSize != nil else { return self }
        var result = self
        result.options = QueryOptions()
        for (item, behind) in items(for: expand) {
            guard behind.isEmpty else {
                // V2 writes `Orders/Items`, level by level.
                result.options.expand.append(ExpandItem(path: behind, form: item.form, options: item.options))
                continue
            }
            let deeper = result.options.expand
            result.options = item.options
            result.options.levels = nil
            result.aliases.merge(item.options.aliases) { _, inner in inner }
            result.options.expand += deeper
            // A recursive property is expanded again on the next level.
            var again = item
            again.path = [Identifier(expand.navigation.name)]
            switch expand.levels {
            case let levels? where levels > 1: again.options.levels = .exactly(levels - 1)
            case nil: again.options.levels = .max
            default: continue
            }
            result.options.expand.append(again)
        }
        return result
    }

    /// Returns the items that expand a property, each with the remainder of its path.
    private func items(for expand: BoundExpand) -> [(item: ExpandItem, behind: [Identifier])] {
        let name = expand.navigation.name
        // Two types may have a property with the same name.
        let path =
            expand.path.map { step in
                if case .cast(let shape) = step { shape.name.description } else { ExpressionCompiler.name(of: [step]) }
            } + [name]
        let items = options.expand.filter { $0.path.starts(with: path) { $0.text == $1 } }
        if !items.isEmpty { return items.map { ($0, Array($0.path.dropFirst(path.count))) } }
        if let item = options.expand.first(where: { $0.path.last?.text == name }) { return [(item, [])] }
        return options.expand.filter { $0.path.last?.text == "*" }.map { ($0, []) }
    }

    /// Returns whether an expanded property can have next links, which requires a path to it through each parent.
    ///
    /// A parent without an id has no path. Properties of complex values have no path that supports paging.
    static func canLink(_ expand: BoundExpand, of table: TableStorage, _ mapping: StorageMapping) -> Bool {
        guard expand.complexPath.isEmpty else { return false }
        var path = ""
        var container: TableStorage?
        for segment in table.set.split(separator: "/").map(String.init) {
            path += path.isEmpty ? segment : "/\(segment)"
            guard let own = mapping.tables[path] else { return false }
            let isAlone: Bool
            if let container {
                guard let navigation = container.shape.navigationProperty(segment) else { return false }
                isAlone = !navigation.isCollection
            } else {
                isAlone = mapping.model.singleton(segment) != nil
            }
            guard isAlone || !own.keyColumns.isEmpty else { return false }
            container = own
        }
        return true
    }

    /// Returns the link to the rows that follow the expanded rows of a parent.
    ///
    /// - Parameter parent: the parent's id, which is the path to it.
    func link(
        to expand: BoundExpand, of parent: String?, values: [DatabaseValue], mapping: StorageMapping,
        compilerOptions: SQLCompiler.Options
    ) throws -> String? {
        guard let parent else { return nil }
        var path = parent
        // The type that declares the property, if the parent's declared type does not.
        for case .cast(let shape) in expand.path { path += "/\(shape.name)" }
        path += "/\(expand.navigation.name)"
        if expand.query.shape.name != expand.navigation.target { path += "/\(expand.query.shape.name)" }
        let place = try Binder(model: mapping.model).bind(ODataURL(parsing: path)).resource
        let compiled = try SQLCompiler(mapping: mapping, options: compilerOptions.lasting).compile(
            expand.query, at: place.steps)
        let remaining = expand.query.top.map { max(0, $0 - (pageSize ?? 0)) }
        let token = PageToken(
            digest: compiled.digest, now: compilerOptions.now, remaining: remaining, values: values)
        var options = options
        options.aliases.merge(aliases) { own, _ in own }
        options.skipToken = token.text
        return "\(serviceRoot)\(path)?\(options.urlEncoded())"
    }
}
