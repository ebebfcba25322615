// The entities in the engine's own tables: keys, changes and versions of queued requests, staged pages.
import Foundation
import ODataModel

private let coder = SnapshotCoder(model: sampleModel())
private let shapes = ["Order", "Rush", "Item"].compactMap { coder.model.shape(QualifiedName("Shop", $0)) }

/// Keeps an entity and reads it again.
private func again(_ entity: ODataEntity, _ shape: TypeShape) -> (entity: ODataEntity, written: Data) {
    let written = coder.encode(entity)
    guard let entity = try? coder.decode(written, shape: shape) else {
        fatalError("what was kept is not read: \(String(decoding: written, as: UTF8.self))")
    }
    return (entity, written)
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for shape in shapes {
        guard let entity = try? coder.decode(bytes: bytes, shape: shape) else { continue }
        _ = entity.key
        // A number that nobody declares may be read as another type than it was written from, of the same value: once.
        let first = again(entity, shape)
        let second = again(first.entity, shape)
        promise(second.entity.control.etag == entity.control.etag, "another ETag")
        // NaN is not equal to itself, so that texts are compared instead of values.
        promise(coder.encode(second.entity) == second.written, "what was kept is read as something else")
    }
    return 0
}
