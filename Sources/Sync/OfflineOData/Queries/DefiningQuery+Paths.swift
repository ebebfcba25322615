import ODataModel
import ODataQuery

extension DefiningQuery {
    /// One level of the path: a set, a singleton, or a contained collection.
    private struct Level {
        var name: String
        var shape: TypeShape
        var key: EntityKey?
    }

    /// Returns the same query over the entity set or singleton at the beginning of its path. An entity key
    /// becomes a condition, and contained entities are expanded. Of the container, only the key is read.
    ///
    /// ```
    /// Photos(7)                       Photos?$filter=ID eq 7
    /// Albums(1)/Pages?$select=Title   Albums?$filter=ID eq 1&$select=ID&$expand=Pages($select=Title)
    /// ```
    /// - Returns: the query itself if its path has a single name, or leads elsewhere.
    /// - Throws: `QueryError` for names that the model does not have;
    ///   ``OfflineError/invalidDefiningQuery(name:reason:)`` for a parameter outside of a condition.
    func overSet(of model: EntityDataModel) throws -> DefiningQuery {
        try DefiningQueryCheck.requireParametersInConditions(of: self, model: model)
        let steps = try bound(to: model).resource.steps
        guard steps.count > 1 else { return self }
        var levels: [Level] = []
        for step in steps {
            switch step {
            case .entitySet(let set, let shape): levels.append(Level(name: set.name, shape: shape))
            case .singleton(let singleton, let shape): levels.append(Level(name: singleton.name, shape: shape))
            case .navigation(let navigation, _, let shape) where navigation.isContainment:
                levels.append(Level(name: navigation.name, shape: shape))
            case .key(let key) where !levels.isEmpty: levels[levels.count - 1].key = key
            default: return self
            }
        }
        var options = url.options
        let aliases = options.aliases
        options.aliases = [:]
        for (index, level) in levels.enumerated().reversed() {
            if let condition = level.key.map({ KeyURL.condition($0, shape: level.shape, model) }) {
                options.filter = options.filter.map { .binary(.and, condition, $0) } ?? condition
            }
            guard index > 0 else { break }
            var outer = QueryOptions()
            outer.expand = [ExpandItem(path: [Identifier(level.name)], options: options)]
            outer.select = levels[index - 1].shape.keySelection
            options = outer
        }
        options.aliases = aliases
        guard let first = levels.first else { return self }
        var over = ODataURL(path: ResourcePath([.name(Identifier(first.name), .none)]))
        over.options = options
        return try DefiningQuery(
            name, over.description, group: group, retrievesStreams: retrievesStreams, isShared: isShared)
    }
}
