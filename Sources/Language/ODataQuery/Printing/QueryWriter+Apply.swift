import ODataModel

/// Writing of `$apply`.
extension QueryWriter {
    mutating func write(_ transformations: [Transformation]) {
        list(transformations, separator: "/") { $0.write($1) }
    }

    private mutating func write(_ transformation: Transformation) {
        switch transformation {
        case .aggregate(let items): call("aggregate") { $0.list(items) { $0.write($1) } }
        case .groupBy(let items, let then):
            call("groupby") {
                $0.write("(")
                $0.list(items) { $0.write($1) }
                $0.write(")")
                $0.writeRest(then)
            }
        case .filter(let condition): call("filter") { $0.write(condition) }
        case .orderBy(let items): call("orderby") { $0.list(items) { $0.write($1) } }
        case .search(let search): call("search") { $0.write(search) }
        case .compute(let items): call("compute") { $0.list(items) { $0.write($1) } }
        case .top(let number): call("top") { $0.write(number) }
        case .skip(let number): call("skip") { $0.write(number) }
        case .ranked(let name, let amount, let key):
            call(name) {
                $0.write(amount)
                $0.write(",")
                $0.write(key)
            }
        case .identity: write("identity")
        case .concat(let sequences): call("concat") { $0.list(sequences) { $0.write($1) } }
        case .expand(let item, let filter): write(expand: item, filter: filter)
        case .join(let path, let name, let then, let isOuter):
            call(isOuter ? "outerjoin" : "join") {
                $0.write("\(Self.joined(path)) as \(name)")
                $0.writeRest(then)
            }
        case .nest(let items): call("nest") { $0.write(nested: items) }
        case .addNested(let path, let items):
            call("addnested") {
                $0.write("\(Self.joined(path)),")
                $0.write(nested: items)
            }
        case .hierarchy(let name, let arguments):
            call(name) {
                $0.write(arguments.root)
                $0.write(",\(arguments.qualifier),\(Self.joined(arguments.node))")
                $0.writeRest(arguments.start)
                if let distance = arguments.distance { $0.write(",\(distance)") }
                if arguments.keepStart { $0.write(",keep start") }
            }
        case .traverse(let arguments):
            call("traverse") {
                $0.write(arguments.root)
                $0.write(",\(arguments.qualifier),\(Self.joined(arguments.node))")
                $0.write(arguments.isPreorder ? ",preorder" : ",postorder")
                $0.writeRest(arguments.start)
                if !arguments.orderBy.isEmpty {
                    $0.write(",")
                    $0.list(arguments.orderBy) { $0.write($1) }
                }
            }
        case .custom(let name, let arguments):
            write(name.text)
            write(arguments: arguments)
        }
    }

    private mutating func call(_ name: String, _ body: (inout QueryWriter) -> Void) {
        write("\(name)(")
        body(&self)
        write(")")
    }

    private mutating func writeRest(_ transformations: [Transformation]) {
        guard !transformations.isEmpty else { return }
        write(",")
        write(transformations)
    }

    private mutating func write(nested items: [Transformation.NestItem]) {
        list(items) {
            $0.write($1.transformations)
            $0.write(" as \($1.name)")
        }
    }

    private mutating func write(expand item: ExpandItem, filter: CommonExpression?) {
        call("expand") {
            $0.write(Self.joined(item.path))
            if let filter {
                $0.write(",")
                $0.call("filter") { $0.write(filter) }
            }
            for inner in item.options.expand {
                $0.write(",")
                $0.write(expand: inner, filter: inner.options.filter)
            }
        }
    }

    private mutating func write(_ item: GroupItem) {
        switch item {
        case .path(let path): write(Self.joined(path))
        case .rollup(let paths):
            call("rollup") { $0.list(paths) { $0.write($1.map(Self.joined) ?? "$all") } }
        case .recursiveRollup(let rollup):
            call("rolluprecursive") {
                $0.write(rollup.root)
                $0.write(",\(rollup.qualifier),\(Self.joined(rollup.node))")
                $0.writeRest(rollup.restriction)
            }
        }
    }

    mutating func write(_ item: AggregateItem) {
        switch item.operand {
        case .count(let path): write(path.isEmpty ? "$count" : Self.joined(path) + "/$count")
        case .expression(let expression, let method):
            write(expression)
            write(" with \(method)")
        case .custom(let name): write(name.text)
        }
        for step in item.from {
            write(" from \(([step.path] + step.others).map(Self.joined).joined(separator: ","))")
            if let method = step.method { write(" with \(method)") }
        }
        if let name = item.name { write(" as \(name)") }
    }
}
