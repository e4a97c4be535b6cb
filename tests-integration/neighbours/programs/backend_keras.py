"""Keras on its torch backend: losses of a fit, predictions, and gradients through a convolution."""

import json
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

keras.utils.set_random_seed(0)
data = np.random.default_rng(0)
x, y = data.normal(size=(24, 8, 8, 1)).astype("float32"), data.integers(0, 3, 24)
start = keras.initializers.RandomNormal(seed=1)
model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(4, 3, activation="relu", kernel_initializer=start),
        keras.layers.BatchNormalization(),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(3, kernel_initializer=start),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
print(json.dumps({"history": history.history, "predicted": model.predict(x, verbose=0).tolist()}))
