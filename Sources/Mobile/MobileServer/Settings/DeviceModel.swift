import MobileProtocol
import ODataModel

/// The model of the device API with the shapes that the server fills.
struct DeviceModel: Sendable {
    let model: EntityDataModel
    let registration: TypeShape
    let setting: TypeShape
    let policies: TypeShape
    let features: TypeShape
    let destination: TypeShape

    /// Reads the model.
    ///
    /// - Throws: ``CSDLError`` if the embedded text was damaged.
    init() throws(CSDLError) {
        let model = try CSDLReader.read(Array(DeviceCSDL.text.utf8))
        self.model = model
        func shape(_ name: String) -> TypeShape {
            let type = QualifiedName(MobileNamespace.name, name)
            return model.shape(type) ?? TypeShape(dynamic: type, properties: [])
        }
        registration = shape("Registration")
        setting = shape("Setting")
        policies = shape("Policies")
        features = shape("Features")
        destination = shape("Destination")
    }

    /// Returns the shape of a complex type.
    func complex(_ name: String) -> TypeShape {
        let type = QualifiedName(MobileNamespace.name, name)
        return model.shape(type) ?? TypeShape(dynamic: type, properties: [])
    }
}
