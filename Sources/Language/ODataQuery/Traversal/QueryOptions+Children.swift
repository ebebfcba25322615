extension QueryOptions: SyntaxNode {
    package var children: [CommonExpression] {
        var children: [CommonExpression] = []
        if let filter { children.append(filter) }
        children += orderBy.map(\.expression)
        for item in select where item.hasOptions { children += item.options.children }
        children += expand.flatMap(\.children)
        children += compute.map(\.expression)
        children += apply.flatMap(\.children)
        children += temporal.sorted { $0.key < $1.key }.map(\.value)
        children += aliases.sorted { $0.key < $1.key }.map(\.value)
        return children
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> QueryOptions {
        var result = self
        result.filter = try filter.map(transform)
        result.orderBy = try orderBy.mapExpressions(transform)
        for index in select.indices where select[index].hasOptions {
            result.select[index].options = try select[index].options.mapChildren(transform)
        }
        result.expand = try expand.map { item throws(Failure) in try item.mapChildren(transform) }
        result.compute = try compute.mapExpressions(transform)
        result.apply = try apply.mapExpressions(transform)
        for (name, value) in temporal.sorted(by: { $0.key < $1.key }) { result.temporal[name] = try transform(value) }
        for (name, value) in aliases.sorted(by: { $0.key < $1.key }) { result.aliases[name] = try transform(value) }
        return result
    }
}

extension ExpandItem: SyntaxNode {
    package var children: [CommonExpression] { options.children }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> ExpandItem {
        ExpandItem(path: path, form: form, options: try options.mapChildren(transform))
    }
}

extension [OrderItem] {
    func mapExpressions<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in
            OrderItem(try transform(item.expression), isDescending: item.isDescending)
        }
    }
}

extension [ComputeItem] {
    func mapExpressions<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in ComputeItem(try transform(item.expression), as: item.name) }
    }
}
