import ODataService

extension ODataResponse {
    /// The response without ETags in pages, as by a service that returns them only for single entities.
    var withoutETagsInPage: ODataResponse {
        guard case .page(var page) = body else { return self }
        for index in page.entities.indices { page.entities[index].control.etag = nil }
        var response = self
        response.body = .page(page)
        return response
    }
}
