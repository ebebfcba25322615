import ODataService

extension ODataResponse {
    /// The response of a service that tells the ETags of single entities alone.
    var withoutETagsInPage: ODataResponse {
        guard case .page(var page) = body else { return self }
        for index in page.entities.indices { page.entities[index].control.etag = nil }
        var response = self
        response.body = .page(page)
        return response
    }
}
