import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The place of a large attribute: an object and one of its streams.
struct LargePlace: Sendable {
    let store: OfflineStore
    let type: QualifiedName
    /// `nil` for an object that was never saved.
    let row: RowReference?
    /// The attribute; `nil` for the content of a media entity.
    let attribute: String?
    /// The category of its changes.
    let category: String

    /// The attribute in errors.
    var name: String { "\(type)/\(attribute ?? "$value")" }

    /// Checks that the object has a row.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    func requireSaved() throws(ObjectError) {
        if row == nil { throw .notSaved(type: type) }
    }

    /// The URL of the stream.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``; ``ObjectError/objectNotFound(type:object:)`` if the object is gone.
    func url() async throws -> ODataURL {
        guard let row else { throw ObjectError.notSaved(type: type) }
        guard var url = try await store.changes.url(of: row) else {
            throw ObjectError.objectNotFound(type: type, object: name)
        }
        url.path.segments.append(attribute.map { .name(Identifier($0), .none) } ?? .value)
        return url
    }

    /// The bytes, which are read on demand.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)`` if the attribute is null; `ODataError` if it was not
    ///   loaded.
    func bytes() async throws -> ByteStream {
        let url = try await url()
        guard case .raw(let bytes, _) = try await store.execute(ODataRequest(.read, url)).body else {
            throw ObjectError.objectNotFound(type: type, object: url.description)
        }
        return bytes
    }

    /// Replaces the bytes. The change is held.
    func replace(with bytes: ByteStream, contentType: String) async throws {
        var request = ODataRequest(.replace, try await url(), body: .media(bytes, contentType: contentType))
        request.context.changeOptions = ChangeOptions(category: category, isHeld: true)
        _ = try await store.execute(request)
    }

    /// Sets the attribute to null. The change is held.
    func remove() async throws {
        var request = ODataRequest(.delete, try await url())
        request.context.changeOptions = ChangeOptions(category: category, isHeld: true)
        _ = try await store.execute(request)
    }
}
