import ODataQuery
import ODataService

/// Checks of the query options and path segments of requests that change data. An ignored option would change more
/// than the client intended: `PUT Products?$filter=…` would replace all products.
extension StoreProvider {
    /// Refuses query options that select rows, because a request changes everything that its path addresses (OData
    /// Protocol 4.01, 11.2.1 and 11.4.12).
    ///
    /// For a single entity, `$select` and `$expand` determine the response (11.4.1.5). A changed collection
    /// supports neither (11.4.12). The options of `$each` are evaluated after the change (OData URL Conventions
    /// 4.01, 4.12).
    ///
    /// - Throws: ``ODataError`` 400 with the option as target.
    func checkOptions(of request: ODataRequest, _ resource: BoundResource) throws {
        let isEach = resource.steps.last == .each
        let isUpdate = request.method == .update || request.method == .replace
        guard isUpdate || request.method == .delete, !(isEach && isUpdate) else { return }
        var options = request.url.options.rowOptions
        if isUpdate, case .entities = resource.target { options += request.url.options.shapeOptions }
        guard let option = options.first else { return }
        let advice =
            if case .entities = resource.target {
                "Leave it out. To change some of the members, send PATCH or DELETE to …/$filter(…)/$each."
            } else {
                "Leave it out."
            }
        throw ODataError(
            status: 400, code: "InvalidQuery",
            message:
                "\(request.method.rawValue) changes all that the path addresses, so that \(option) has no effect. \(advice)",
            target: option)
    }

    /// Refuses path segments that restrict a collection that is changed as a whole (OData Protocol 4.01, 11.4.12).
    ///
    /// - Throws: ``ODataError`` 400 for a cast segment. ``WriteTarget`` refuses a `$filter(…)` segment with 501.
    func checkWholeCollection(_ resource: BoundResource) throws {
        guard case .cast(let shape)? = resource.steps.last else { return }
        throw ODataError(
            status: 400, code: "InvalidPath",
            message: "A collection is changed as a whole, without the type \(shape.name) in the path. "
                + "Send the request to the collection itself.", target: "\(shape.name)")
    }
}

extension QueryOptions {
    /// The names of the present options that select or order rows.
    fileprivate var rowOptions: [String] {
        var names: [String] = []
        if filter != nil { names.append("$filter") }
        if search != nil { names.append("$search") }
        if top != nil { names.append("$top") }
        if skip != nil { names.append("$skip") }
        if !orderBy.isEmpty { names.append("$orderby") }
        if !apply.isEmpty { names.append("$apply") }
        if !compute.isEmpty { names.append("$compute") }
        if count != nil { names.append("$count") }
        if skipToken != nil { names.append("$skiptoken") }
        if deltaToken != nil { names.append("$deltatoken") }
        return names
    }

    /// Whether an option determines the rows or properties of a response.
    package var shapesResponse: Bool { !rowOptions.isEmpty || !select.isEmpty || !expand.isEmpty }

    /// The names of the present options that determine the returned properties.
    fileprivate var shapeOptions: [String] {
        var names: [String] = []
        if !select.isEmpty { names.append("$select") }
        if !expand.isEmpty { names.append("$expand") }
        if id != nil { names.append("$id") }
        if index != nil { names.append("$index") }
        return names
    }
}
