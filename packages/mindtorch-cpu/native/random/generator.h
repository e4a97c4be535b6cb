// A Python generator whose words native code draws.
#pragma once

#include "kernels/kernel.h"
#include "random/distributions.h"
#include "mindtorch/unlocked.h"

namespace mindtorch {

// How torch's build for this machine rounds: multiply-adds at once; float32 normals from vector polynomials.
struct Rounding {
    bool fused, vector_normal;
};

const Rounding& rounding();

// A generator whose lock is held while this lives.
class Draw {
public:
    // `generator` may be None. `taken` says how it went, as a kernel's result does: 0 for what is no generator.
    explicit Draw(PyObject* generator);
    Draw(const Draw&) = delete;
    Draw& operator=(const Draw&) = delete;
    ~Draw();

    // Run body(twister) for `count` elements, without Python's lock where it takes long; -1 with an error set.
    template <typename Body>
    int draw(size_t count, const Body& body) {
        if (count == 0) return 1;
        if (!mark_drawn()) return -1;
        if (count < 4096) {
            body(*twister_);
        } else {
            const Unlocked unlocked;
            body(*twister_);
        }
        return 1;
    }

    // The spare normal of the last pair; false with an error set, or `there` false when there is none.
    bool take_spare(double& value, bool& there);
    bool leave_spare(double value);

    int taken = 0;

private:
    bool mark_drawn();

    Ref lock_, engine_;
    Twister* twister_ = nullptr;
};

}  // namespace mindtorch
