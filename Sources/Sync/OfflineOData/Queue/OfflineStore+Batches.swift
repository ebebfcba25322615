import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// Batches (OData Protocol 4.01, 11.7). Each request is answered as it would be alone; a change set is one
/// transaction and one change set of the queue.
extension OfflineStore {
    /// Answers the requests of a batch in order.
    ///
    /// - Throws: `ODataError` alone.
    func batch(_ items: [BatchItem], of request: ODataRequest) async throws -> ODataResponse {
        do {
            return try await BatchRun(
                model: model, single: { try await self.answer(member: $0) },
                changeSet: { requests, resolve in try await self.changeSet(requests, resolve) },
                observer: request.batchObserver
            ).run(items, continueOnError: request.preferences.continueOnError)
        } catch {
            throw ODataError(translating: error)
        }
    }

    /// Answers a request outside of a change set. If the service cannot be asked, the error is the answer to this
    /// request, and not to the batch.
    private func answer(member request: ODataRequest) async throws -> ODataResponse {
        do {
            return try await execute(request)
        } catch OfflineError.notConnected {
            throw ODataError(status: 503, code: "NotConnected", message: OfflineError.notConnected.description)
        } catch let error as TransportError {
            throw ODataError(
                status: error.isCertainlyUnsent ? 503 : 502, code: "Unreachable", message: error.description)
        } catch let error as InvalidResponseError {
            throw ODataError(status: 502, code: "InvalidResponse", message: error.description)
        }
    }

    private func changeSet(
        _ requests: [ODataRequest], _ resolve: @escaping BatchRun.Resolver
    ) async throws -> [ODataResponse] {
        let responses = try await changes.transaction { changes in try resolve(requests) { try changes.perform($0) } }
        return await local.completed(responses, to: requests)
    }
}
